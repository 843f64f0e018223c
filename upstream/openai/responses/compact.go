package responses

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// Agents ask for a summary that replaces the items of a long conversation: with a last item of
// type "compaction_trigger", or on the path …/responses/compact. The handler asks the model for
// it. The client receives one item of type "compaction", whose encrypted_content is an envelope
// with the summary, and sends it in place of the items before it; it becomes a text of the user
// then: see [decodeCompaction]. The vendor's own server gets the document with the trigger, and
// makes an item of its own.

const typeTrigger = "compaction_trigger"

// textSummarize asks the model for a summary.
const textSummarize = "Summarize the conversation so far. The summary replaces the conversation: it is all that remains of it to continue the work. " +
	"Include the goals and the instructions of the user, the decisions and their reasons, what has been done and with which results, " +
	"the names of files, functions and other things that matter, open problems, and the next steps. Write only the summary."

var lossNoSummary = loss.Dropped(loss.ResponseText, "the model wrote no summary, or one of more than 4 MiB; there is no compaction item")

// wantsSummaryItem reports whether the last item asks for a summary. r may be nil.
func (r *Request) wantsSummaryItem() bool {
	if r == nil {
		return false
	}
	n := len(r.Input)
	return n > 0 && r.Input[n-1].Type == typeTrigger
}

// summarize makes n, which nothing else uses yet, the request for a summary of its conversation.
func summarize(n *upstream.Request) {
	n.Output = upstream.Output{}
	if len(n.Tools) > 0 {
		n.Choice = content.ToolChoice{Mode: content.ChoiceNone}
	}
	n.Turns = slices.Clone(n.Turns)
	ask := &content.Text{Text: textSummarize}
	last := len(n.Turns) - 1
	if last < 0 || n.Turns[last].Role != content.RoleUser {
		n.Turns = append(n.Turns, content.Turn{Role: content.RoleUser, Parts: []content.Part{ask}})
		return
	}
	parts := slices.Clone(n.Turns[last].Parts)
	if i := len(parts) - 1; i >= 0 && isTrigger(parts[i]) {
		parts[i] = ask
	} else {
		parts = append(parts, ask)
	}
	n.Turns[last].Parts = parts
}

func isTrigger(p content.Part) bool {
	u, ok := p.(*content.Unknown)
	return ok && u != nil && u.Format == Format && u.Kind == typeTrigger
}

// addSummary adds text of a summary. It keeps no more than an envelope can have.
func (s *encoder) addSummary(text string) {
	if s.summary.Len() <= envelope.MaxSize {
		s.summary.Add(text)
	}
}

// isCompaction reports whether a part is a compaction item of the vendor.
func isCompaction(p content.Part) bool {
	t, ok := p.(*content.Thinking)
	return ok && t.Redacted.Format == Format && gjson.Get(t.Redacted.Data, "type").Str == typeCompaction
}

// endSummary adds the compaction item, unless there is one of the vendor. It returns the failure of
// a response without one.
func (s *encoder) endSummary() *handler.Failure {
	if s.next > 0 {
		return nil
	}
	summary := s.summary.String()
	state, ok := encodeCompaction(summary)
	if !ok || strings.TrimSpace(summary) == "" {
		s.LoseAt("parts", lossNoSummary)
		return &handler.Failure{Code: upstream.CodeBadGateway, Text: "the model wrote no summary"}
	}
	var w jsonwire.Writer
	w.BeginObject()
	w.Member("id", "cmp_"+strings.TrimPrefix(s.id, responsePrefix))
	w.Member("type", "compaction")
	w.Member("encrypted_content", state)
	w.EndObject()
	s.addItem(new(sentBlock), w.Text())
	return nil
}

// compact returns the operation for the body of …/responses/compact.
func (d *dialect) compact(_ string, r *http.Request, body string) (*handler.Operation, error) {
	op, _, err := d.parseOperation(r, body)
	if err != nil {
		return nil, err
	}
	if op.Request.Stream, op.EncodeAnew = false, true; !snapshot.Parsed[*Request](op.Request).wantsSummaryItem() {
		op.Request.Wire = document.Of(op.Request.Wire).Paths().Wire()
		summarize(op.Request)
	}
	op.Response = func(n *upstream.Request, resp *upstream.Response) (*jsonwire.Writer, []content.Loss) {
		s := encoderFor(n)
		s.whole, s.compacting = true, true
		s.init(n.Turns)
		_, losses := s.convertResponse(resp)
		dst := jsonwire.AppendString([]byte(`{"id":`), s.id)
		dst = jsonwire.AppendInt(append(dst, `,"object":"response.compaction","created_at":`...), s.created)
		dst = s.appendOutput(append(dst, `,"output":[`...))
		dst = append(appendUsage(append(dst, `],"usage":`...), &s.Usage), '}')
		w := new(jsonwire.Writer)
		w.Raw(string(dst))
		return w, losses
	}
	return op, nil
}
