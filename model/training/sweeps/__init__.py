"""Series of small runs that pages compare: peak rates and warmups, mistakes, and what language models became."""
