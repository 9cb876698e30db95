"""One file a family of metrics, one function a metric."""
