"""The pages: each chooses, computes, draws and explains. Beside components and app.py only they import Streamlit."""
