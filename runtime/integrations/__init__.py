"""Device support for trainers of other libraries: Accelerate, transformers, Lightning; each is opt-in by import."""
