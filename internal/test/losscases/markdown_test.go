package losscases

import "testing"

func TestCell(t *testing.T) {
	const hint, degraded, dropped = outcome(1), outcome(2), outcome(3)
	only := func(s ...Server) []Server { return s }
	for name, tt := range map[string]struct {
		from    Feature
		at      Server
		results []outcome
		want    string // empty: an error
	}{
		"usual case":             {Feature{Cases: []Case{{}}}, Messages, []outcome{hint}, "hint"},
		"same under a condition": {Feature{Cases: []Case{{}, {When: "with a"}}}, Messages, []outcome{0, 0}, "kept"},
		"conditions by outcome": {Feature{Cases: []Case{{}, {When: "with a"}, {When: "with b"}, {When: "with c"}, {When: "with d"}}}, Messages,
			[]outcome{0, dropped, degraded, dropped, refused}, "kept; dropped with a or with c; degraded with b; refused with d"},
		"three conditions":    {Feature{Cases: []Case{{}, {When: "a"}, {When: "b"}, {When: "c"}}}, Messages, []outcome{0, 1, 1, 1}, "kept; hint a, b or c"},
		"unlisted case":       {Feature{Cases: []Case{{}, {Unlisted: true, When: "with a"}}}, Messages, []outcome{0, dropped}, "kept"},
		"other servers":       {Feature{Cases: []Case{{}, {When: "with a", To: only(Responses)}}}, Messages, []outcome{0, dropped}, "kept"},
		"variant of a server": {Feature{Cases: []Case{{}, {When: "by others", To: only(OtherResponses)}}}, Responses, []outcome{0, dropped}, "kept; dropped by others"},
		"own clients":         {Feature{From: by(m), Cases: []Case{{}}}, Messages, []outcome{dropped}, "–"},
		"clients by format":   {Feature{Cases: []Case{{From: by(m)}, {From: by(g)}}}, GenerateContent, []outcome{hint, dropped}, "hint"},
		"contradiction":       {Feature{Cases: []Case{{From: by(m)}, {From: by(g)}}}, OpenAIChat, []outcome{hint, dropped}, ""},
		"no usual case":       {Feature{Cases: []Case{{When: "with a"}}}, Messages, []outcome{hint}, ""},
	} {
		r := Result{outcomes: make(map[*Case]*[Servers]outcome), effective: make(map[*Case]bool)}
		for i := range tt.from.Cases {
			list := new([Servers]outcome)
			for s := range list {
				list[s] = tt.results[i]
			}
			r.outcomes[&tt.from.Cases[i]] = list
		}
		got, err := r.cell(&tt.from, tt.at)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, tt.want)
		}
	}
}
