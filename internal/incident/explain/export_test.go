package explain

// Cited is a statement as a finding cites it: the numbers of a rule, the numbers of a hazard in
// brackets, and the release that changed it.
func (st *statement) cited() (all []string) {
	switch {
	case st.says == "":
	case st.isHazard:
		all = append(all, "["+st.ids+": "+st.says+"]")
	default:
		all = append(all, st.ids+": "+st.says)
	}
	if st.changed.Since != 0 {
		all = append(all, "since "+st.changed.Since.String())
	}
	return all
}

// Statements lists all statements as findings cite them.
func Statements() (all []string) {
	for i := range statements {
		all = append(all, statements[i].cited()...)
	}
	return all
}
