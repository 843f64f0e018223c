package generatecontent

import (
	"testing"

	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/internal/test/losstable"
)

// TestLossTable compares the package's losses with the tables of the page of losses.
// Run it with -update after a change.
func TestLossTable(t *testing.T) {
	losstable.Check(t, "generatecontent-answer", responseLosses...)
	losstable.Check(t, "generatecontent-read", decodeLosses...)
}

// TestRequestPath checks that the paths of a parsed request count the empty parts of its
// document, and that those of a constructed request do not.
func TestRequestPath(t *testing.T) {
	parsed, err := ParseRequest([]byte(`{"contents":[{"parts":[{"text":""},{"text":"Hi."}]}],"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"a"},{"name":"b"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		r             *Request
		neutral, want string
	}{
		{parsed, "turns.0.parts.0", "contents[0].parts[1]"},
		{new(Request), "turns.0.parts.0", "contents[0].parts[0]"},
		{parsed, "tools.2", "tools[1].function_declarations[1]"},
		{parsed, "top_k", "generation_config.top_k"},
		{parsed, "parts.1", "candidates[0].content.parts[1]"},
		{parsed, "candidates.2.parts.1", "candidates[2].content.parts[1]"},
		{parsed, "what.ever", "what.ever"},
	} {
		if got := tt.r.Path(tt.neutral); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.neutral, got, tt.want)
		}
	}
}

// responseLosses lists the losses of converting a response to this format.
var responseLosses = []*loss.Rule{
	envelope.UnknownFormat, envelope.TooLarge, envelope.TooLate, envelope.TwoVendors, response.LossHiddenThinking,
	lossBuiltinTool, lossPartKind, lossInvalidPart, response.LossCallName, response.LossCallArguments, response.LossCutCall, response.LossFreeform, response.LossNamespace, response.LossRefusal, response.LossCitedPlace, lossForwardedArguments,
	lossResponseDocumentTitle, lossFileSource, lossFileData, lossFileType, lossFileTypeDetected, lossSignatureData, lossLateSignature, lossHiddenSignature,
	lossCitationSource, lossCitationPassage, lossEmptyCited, lossCitationsReplaced, lossCitations,
	lossStopReason, lossStopReasonNearest, lossStopSequence, response.LossStopDetails, lossUsageCounts,
	lossResponseCacheMark, response.LossMemberPlace, lossEventMembers, lossBlockExtra, response.LossVendorEvent,
	foreign.FilesOfCode, foreign.LogprobsLoss, foreign.ResumeLoss, foreign.ResponseLoss,
}

// decodeLosses lists the losses of decoding a response in this format.
var decodeLosses = []*loss.Rule{lossArgumentPiece, lossCutArguments, lossTokenCount,
	codec.ResponseNotUnicode, codec.ResponseNoReason, codec.ResponseStringInput, codec.ResponseWrongType, codec.ResponseManyCounts}
