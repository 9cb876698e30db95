"""Every method against random scores on SST-2."""
