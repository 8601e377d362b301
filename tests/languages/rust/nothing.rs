// Cargo.toml says what for.
