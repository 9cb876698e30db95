"""What tests of several rooms share: tiny models, sample results, readers of pages."""
