"""Link prediction over the memory graph with PyTorch Geometric."""
