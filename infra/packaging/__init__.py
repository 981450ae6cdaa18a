"""What goes to AWS and how: the code of a function, what `sam build` made of it all, and the deployment."""
