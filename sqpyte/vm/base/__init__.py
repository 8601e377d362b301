"""What every module of the VM stands on: memory, the C functions, the hints for the JIT, what is switched off."""
