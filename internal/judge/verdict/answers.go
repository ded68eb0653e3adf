package verdict

// Answers is the key of the invariant in this file.
const Answers Key = "answers"

var answers = &Invariant{
	Name:   Answers,
	Holds:  "answers have the fields and error codes that the CSI spec requires, and nothing beyond the capabilities; a required call is not rejected permanently",
	Reason: "callers act on codes: after a wrong code they give up, or repeat the call for ever",
	Rules:  []string{"CSI spec: each call's section and errors"},
	Blame:  Driver,
	Rank:   Breach,
}
