"""The device for trainers of other libraries: Accelerate, transformers, Lightning. Each is used only when imported."""
