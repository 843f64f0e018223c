package content

// Limits bounds a document and what is in it. A zero field stands for the
// format's default, which its package documents; there is no way to lift a
// limit but to set a large one.
type Limits struct {
	Body   int64 // bytes
	Depth  int   // nesting of objects and arrays together
	Values int   // JSON values

	Files       int   // in one request
	FileBytes   int64 // of one file, decoded
	ImageSide   int   // width or height of an image, in pixels
	ImagePixels int64 // width times height
}
