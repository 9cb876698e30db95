"""What users have becomes what every door works on: data become examples, and what is loaded, fitted or saved a
model.
"""
