"""Device support for other libraries: trainers (Accelerate, transformers, Lightning), and safetensors."""
