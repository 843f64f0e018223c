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

// ParseOnce is the function [Parse] for a zero Doc that is part of something
// else, which saves an allocation. The Doc is not to be used for another
// document.
func (d *Doc) ParseOnce(src string, lim Limits) error {
	if err := d.parse(src, lim); err != nil {
		return err
	}
	// All that is decoded is no longer than the source.
	d.arena.chunk = min(arenaChunk, len(src))
	return nil
}
