package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
)

// What is lost when an answer in this format is read, beside what codec knows.
var (
	readStopMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "members of message_stop are left out"}
	readNowhere = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "an event that is not known, and without a name or before the start of the answer, is left out"}
)

// readLosses is the table of all of it.
var readLosses = append([]*loss.Rule{readStopMembers, readNowhere}, codec.ResponseLosses...)
