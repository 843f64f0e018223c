package content

// Limits bounds a document and what is in it. A zero field stands for the
// format's default, which its package documents; there is no way to lift a
// limit but to set a large one.
type Limits struct {
	Body   int64 // bytes
	Depth  int   // nesting of objects and arrays together
	Values int   // JSON values

	// Parts is how many parts of content a request may have, at all depths,
	// with citations; and how many turns. The members of an object of the API
	// count as parts, too, if some are unknown and there are more than 100 of
	// them. 0 means 100,000, which is the number of messages that a vendor
	// allows. Each part takes some hundred bytes of memory beyond the document.
	Parts int

	// Tools is how many tools a request may have. 0 means 10,000.
	Tools int

	// Schemas is how many JSON values and names the schemas of a request may
	// have together, those of tools and that of the output. 0 means 250,000.
	Schemas int

	Files       int   // in one request
	FileBytes   int64 // of one file, decoded
	ImageSide   int   // width or height of an image, in pixels
	ImagePixels int64 // width times height
}
