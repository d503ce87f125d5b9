"""ATen's operators on the device: memory management, autocast policies, and registration with torch's dispatcher."""
