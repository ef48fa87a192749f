"""What a model of transformers is given to read: turns of a chat, pictures and sounds, several texts at once."""
