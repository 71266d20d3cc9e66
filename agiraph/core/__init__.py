"""Pure rules: decisions by values, with no disk, clock or network."""
