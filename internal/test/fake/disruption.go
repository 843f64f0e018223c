package fake

import "time"

// A Disruption is a piece that disturbs or delays a response. All fakes support
// all disruptions.
type Disruption interface {
	Piece
	disruption()
}

// Status is an error of the vendor. At the beginning of a turn it is an HTTP
// error with the vendor's envelope; later in a stream it is the vendor's error
// event, and the stream ends. Type, Message and Details (JSON) default to those
// of the vendor for the code. Header is added to the vendor's headers.
type Status struct {
	Code                   int
	Type, Message, Details string
	Header                 map[string]string
}

// Reply is an HTTP response that is sent unchanged instead of the vendor's: an
// HTML page, an empty body, an error with status 200. It must be the only piece
// of its turn.
type Reply struct {
	Code        int
	ContentType string
	Header      map[string]string
	Body        string
}

// Header sets a header of the response. It must precede all content.
type Header struct{ Name, Value string }

// ContentType replaces the content type of the response. It must precede all
// content.
type ContentType string

// Cut aborts the connection. A whole response is cut in the middle of its body.
type Cut struct{}

// CutEvent sends half of the next event, or of the whole body, and aborts the
// connection.
type CutEvent struct{}

// End ends the body in good order, without the vendor's last events.
type End struct{}

// Malformed makes the JSON of the next event, or of the whole body, invalid.
// The framing stays valid.
type Malformed struct{}

// Huge adds this many spaces to the JSON of the next event, or of the whole
// body. The JSON stays valid.
type Huge int

// Silence pauses for a duration; zero means until the client disconnects. At
// the beginning of a turn it also delays the headers.
type Silence time.Duration

// Chop limits each later write to this many bytes and flushes each.
type Chop int

func (Status) piece()      {}
func (Reply) piece()       {}
func (Header) piece()      {}
func (ContentType) piece() {}
func (Cut) piece()         {}
func (CutEvent) piece()    {}
func (End) piece()         {}
func (Malformed) piece()   {}
func (Huge) piece()        {}
func (Silence) piece()     {}
func (Chop) piece()        {}

func (Status) disruption()      {}
func (Reply) disruption()       {}
func (Header) disruption()      {}
func (ContentType) disruption() {}
func (Cut) disruption()         {}
func (CutEvent) disruption()    {}
func (End) disruption()         {}
func (Malformed) disruption()   {}
func (Huge) disruption()        {}
func (Silence) disruption()     {}
func (Chop) disruption()        {}
