package view

// Comparison is two traces side by side.
type Comparison struct {
	A      string  `json:"a"` // the names of the traces
	B      string  `json:"b"`
	Levels []Level `json:"levels"`
	// Pairs are the events in both traces, by their positions in each.
	Pairs [][2]int `json:"pairs,omitempty"`
}

// Level is one of the views in which two traces are compared.
type Level struct {
	Name        string `json:"name"`
	What        string `json:"what"`
	Compared    int    `json:"compared"`
	Differences int    `json:"differences"`
	// First is the first difference, nil if there is none.
	First *Difference `json:"first,omitempty"`
}

// Difference is a difference between the traces: the row at Index, with the rows around it.
type Difference struct {
	Subject string    `json:"subject"`
	What    string    `json:"what"`
	Rows    []Aligned `json:"rows"`
	Index   int       `json:"index"`
}

// Aligned is the same point in both traces. An empty text means that there is nothing.
type Aligned struct {
	A     string `json:"a"`
	B     string `json:"b"`
	TimeA int64  `json:"timeA"` // ms
	TimeB int64  `json:"timeB"`
	Same  bool   `json:"same,omitempty"`
}
