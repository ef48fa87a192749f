"""What travels to the stage: message.py first, which packs recordings and what else is known of them as bytes.

payloads.py has its types, packing.py its bytes. What a visitor asks for later has a module each: effects.py,
sampling.py, inside.py.
"""
