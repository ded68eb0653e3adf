package verdict

// OwnStatement is the key of the invariant in this file.
const OwnStatement Key = "own"

// statementBroken is the form of a verdict on a statement of a scenario or a test.
const statementBroken Form = "invariant broken"

// OfStatement returns the verdict on a statement of a scenario or a test that does not hold.
func OfStatement(text string) Verdict {
	return Verdict{Breaks: OwnStatement, Form: statementBroken, Found: []string{text}}.Worded(
		Say("%s: %s", Kept(statementBroken), Quoted(text)))
}

var own = &Invariant{
	Name:   OwnStatement,
	Holds:  "the statements in always of a scenario are true at the end of each instant",
	Reason: "its author says so in because",
	Rules:  []string{"docs/reference/explore.md"},
	Blame:  Own,
	Rank:   Breach,
}
