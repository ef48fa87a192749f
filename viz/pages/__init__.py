"""The pages, one file each or a folder of parts: each chooses, shows and explains. No page imports another one."""
