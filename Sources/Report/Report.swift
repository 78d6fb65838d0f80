// The module's first file; replaced by its real content.
