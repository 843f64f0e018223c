package jsonwire

// Parse is the function [Parse] for a Doc that is used again and again, such
// as for the events of a stream: it allocates nothing, but for the memory that
// decoded strings of all its documents share. The zero Doc is ready. The
// document that it held before is closed, and no Value of that may be used any
// more; if Parse fails, the Doc is left closed.
func (d *Doc) Parse(src string, lim Limits) error {
	d.Close()
	return d.parse(src, lim)
}
