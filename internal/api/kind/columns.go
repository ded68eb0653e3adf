package kind

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/csisim/csisim/internal/world/store"
)

// Column is one column of a table.
type Column struct {
	metav1.TableColumnDefinition
	// Cell returns the value for an object at a time.
	Cell func(obj store.Object, now time.Time) any
}

// text returns a column of texts, show a column of another type, and wide a column that only wide
// output has.
func text[T store.Object](name string, cell func(T) string) Column {
	return show(name, "string", func(obj T) any { return cell(obj) })
}

func show[T store.Object](name, kind string, cell func(T) any) Column {
	return Column{
		metav1.TableColumnDefinition{Name: name, Type: kind},
		func(obj store.Object, _ time.Time) any { return cell(typed[T](obj)) },
	}
}

func wide(c Column) Column {
	c.Priority = 1
	return c
}

// named marks a column as the one with the objects' names.
func named(c Column) Column {
	c.Format = "name"
	return c
}

// timed returns a column that depends on the current time.
func timed[T store.Object](name string, cell func(obj T, now time.Time) any) Column {
	return Column{
		metav1.TableColumnDefinition{Name: name, Type: "string"},
		func(obj store.Object, now time.Time) any { return cell(typed[T](obj), now) },
	}
}

var (
	nameColumn = named(text("Name", func(obj store.Object) string { return obj.GetName() }))
	ageColumn  = timed("Age", func(obj store.Object, now time.Time) any { return age(obj.GetCreationTimestamp(), now) })
)

func age(since metav1.Time, now time.Time) string {
	if since.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(since.Time))
}

// few returns the first three items of a list, and the number of the remaining items.
func few(all []string) string {
	const shown = 3
	if len(all) <= shown {
		return strings.Join(all, ",")
	}
	return fmt.Sprintf("%s + %d more...", strings.Join(all[:shown], ","), len(all)-shown)
}

// plainColumns are the columns of kinds that define none.
var plainColumns = []Column{
	nameColumn, show("Created At", "date", func(obj store.Object) any { return obj.GetCreationTimestamp().UTC().Format(time.RFC3339) }),
}
