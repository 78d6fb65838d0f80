// The module's first test file; replaced by its real content.
