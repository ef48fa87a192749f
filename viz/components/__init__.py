"""The few browser parts that Plotly cannot do well; each has a pure twin in viz/figures for export and notebooks."""
