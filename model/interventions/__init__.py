"""What can be changed inside a running model during a call, as plain data, and how each change is carried out.

Begin with `edits` (what to change); `edit_changes` is what happens at a tap.
"""
