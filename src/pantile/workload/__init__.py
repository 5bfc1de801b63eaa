"""What is computed: products, convolutions and networks of them, and the texts and files they come from."""
