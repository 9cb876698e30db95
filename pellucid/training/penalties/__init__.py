"""What training asks of a model beside its labels: one file a penalty."""
