"""Evaluations with a protocol of their own: transfers, planted reasons, ERASER's scores."""
