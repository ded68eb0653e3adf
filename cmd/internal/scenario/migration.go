package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/migration"
)

// Migration maps in-tree plugins to a stage of their migration to CSI that differs from the
// version's default.
type Migration map[string]migration.Stage

var stages = []string{string(migration.Disabled), string(migration.Enabled), string(migration.Complete)}

// JSONSchema lists the plugins and the stages.
func (Migration) JSONSchema() map[string]any {
	plugins := map[string]any{}
	for _, name := range migration.Names() {
		plugins[name] = map[string]any{"enum": []any{stages[0], stages[1], stages[2]}}
	}
	return map[string]any{"type": "object", "properties": plugins, "additionalProperties": false}
}

// checkMigration reports unknown plugins and stages.
func (c *checker) checkMigration(field string, m Migration) {
	for _, plugin := range slices.Sorted(maps.Keys(m)) {
		path := strict.Key(c.in(field), plugin)
		if !slices.Contains(migration.Names(), plugin) {
			c.document.ReportUnknown(path, fmt.Sprintf("in-tree plugin %q", plugin), plugin,
				"a plugin that a CSI driver can stand in for: "+strings.Join(migration.Names(), ", "), migration.Names())
		}
		if stage := string(m[plugin]); !slices.Contains(stages, stage) {
			c.document.ReportUnknown(path, fmt.Sprintf("stage %q", stage), stage, "one of "+strings.Join(stages, ", "), stages)
		}
	}
}
