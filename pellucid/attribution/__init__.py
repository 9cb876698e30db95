"""How much did each unit matter? One file a method, found by the catalogue."""
