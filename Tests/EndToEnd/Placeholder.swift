// The first test file.
