"""Any figure of a page: drawn by Plotly in the browser, with buttons that make pictures of it."""
