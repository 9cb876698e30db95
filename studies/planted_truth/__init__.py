"""Planted reasons of six kinds."""
