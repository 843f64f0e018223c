package fake

import "time"

// A Fault is a piece that goes wrong, or slowly. All fakes know all faults.
type Fault interface {
	Piece
	fault()
}

// Status is the vendor's own error. First in a turn it is an HTTP error with the vendor's
// envelope; later in a stream it is the vendor's error event, after which nothing
// follows. Type, Message and Details (JSON) have the vendor's defaults for the code.
// Header is added to the vendor's headers.
type Status struct {
	Code                   int
	Type, Message, Details string
	Header                 map[string]string
}

// Reply is an HTTP answer as it stands, instead of what the vendor would send: an HTML
// page, an empty body, an error with status 200. It must be the only piece of its turn.
type Reply struct {
	Code        int
	ContentType string
	Header      map[string]string
	Body        string
}

// Header sets a header of the answer. It must come before any content.
type Header struct{ Name, Value string }

// ContentType replaces the content type of the answer. It must come before any content.
type ContentType string

// Cut aborts the connection here. A whole reply is cut in the middle of its body.
type Cut struct{}

// CutEvent sends half of the next event, or of the whole body, and aborts.
type CutEvent struct{}

// End ends the body here in good order, without what the vendor sends last.
type End struct{}

// Malformed breaks the JSON of the next event, or of the whole body. The framing stays.
type Malformed struct{}

// Huge blows the next event, or the whole body, up by so many bytes of blanks inside its
// JSON, which stays valid.
type Huge int

// Silence sends nothing for so long; zero is until the client has gone. First in a turn
// it holds back the headers as well.
type Silence time.Duration

// Chop writes and flushes so many bytes at a time from here on.
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

func (Status) fault()      {}
func (Reply) fault()       {}
func (Header) fault()      {}
func (ContentType) fault() {}
func (Cut) fault()         {}
func (CutEvent) fault()    {}
func (End) fault()         {}
func (Malformed) fault()   {}
func (Huge) fault()        {}
func (Silence) fault()     {}
func (Chop) fault()        {}
