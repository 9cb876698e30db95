"""How a reason is planted into texts."""
