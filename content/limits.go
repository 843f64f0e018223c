package content

// Limits bounds a request document and its contents. A zero field means the default of
// the format, which the format's package documents. A limit cannot be disabled, only
// set to a large value.
type Limits struct {
	Body   int64 // bytes of the document
	Depth  int   // nesting of objects and arrays
	Values int   // JSON values in the document

	// Parts is the maximum number of content parts in a request, including nested parts,
	// citations, and the thinking blocks of another vendor that signatures
	// and ids of tool calls carry. The number of turns has the same limit. In objects of the API with
	// more than 100 members, some of them unknown, the members count as well. 0 means
	// 100,000, a vendor's limit for messages. A part uses a few hundred bytes of memory
	// beyond the document.
	Parts int

	// Tools is the maximum number of tools in a request. 0 means 10,000.
	Tools int

	// Schemas is the maximum number of JSON values and member names in all schemas of a
	// request, those of tools and that of the output. 0 means 250,000.
	Schemas int

	Files       int   // files in a request
	FileBytes   int64 // bytes of one file, decoded
	ImageSide   int   // width or height of an image in pixels
	ImagePixels int64 // width times height of an image
}
