"""What `torpor new` and `torpor new-worker` make: projects, and workers in a template."""
