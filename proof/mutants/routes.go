package mutants

// Mistakes in filters by topic, header and exceptions, and in routes.
var routing = []Mutant{
	{
		Name: "unreadable-vanishes", What: "a row whose headers cannot be read holds no condition on headers, so that each filter by header hides it",
		Evidence: "routers that drop what they cannot parse",
		Patches:  []Patch{{"store/storekit/filter.go", "m.topics.Take(r.Topic) && (r.Err != nil ||\n", "m.topics.Take(r.Topic) && (r.Err != nil && len(m.headers) == 0 ||\n"}},
		By:       coreTests("store/memstore", "TestConformance.*/Of_routes_that_exclude"), Quick: true,
	},
	{
		Name: "exceptions-take", What: "what a filter excepts is taken all the same: with first match, a message goes to every route",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/storekit/filter.go", "	return f.match.take(r) && !slices", "	return f.match.take(r) && (len(f.except) > 1 || !slices"}, {"store/storekit/filter.go", "return m.excepts(r) })\n}\n", "return m.excepts(r) }))\n}\n"}},
		By:       coreTests("relay", "TestARouteWhoseDestinationIsDown"), Quick: true,
	},
	{
		Name: "header-of-any-value", What: "a header that is there holds each condition on it, whatever its value",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/storekit/filter.go", "	return there && (c.any || ", "	return there && (c.any || value != \"\" || "}},
		By:       coreTests("store/memstore", "TestConformance.*/A_filter_takes_by_topic"),
	},
	{
		Name: "route-hides-none", What: "first match: a route excludes the one above it, and no other",
		Evidence: "made on purpose",
		Patches:  []Patch{{"relay/routes.go", "			where.Except = above\n", "			where.Except = above[max(0, len(above)-1):]\n"}, {"relay/routes.go", "Where{Except: above})", "Where{Except: above[max(0, len(above)-1):]})"}},
		By:       coreTests("relay", "TestRoutesThatCannotBeMeant|TestARouteWhoseDestinationIsDown"),
	},
	{
		Name: "postgresql-prefix-as-a-pattern", What: "PostgreSQL: signs in a prefix that are special to LIKE keep what they mean there, so that a filter takes nothing of a\\b.*",
		Evidence: "search fields whose text becomes a pattern",
		Patches:  []Patch{{"store/pgstore/catalog.go", "inPattern.Replace(p)+\"%\"", "p+\"%\""}, {"store/pgstore/catalog.go", "// inPattern has", "var _ = inPattern\n\n// inPattern has"}},
		By:       tests("store/pgstore", "TestConformance/Prefixes_of_a_filter"),
	},
	{
		Name: "list-by-types-alone", What: "MySQL, MariaDB and SQLite: listings look at no header, and show what a filter refused as delivered",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/sqlkit/inspect_list_rows.go", "	if !l.headed() {", "	if !l.headed() || len(rows) > 0 {"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/Listings_and_commands_judge"),
	},
	{
		Name: "sqlite-reads-by-types-alone", What: "SQLite: a read goes by types and topics, and delivers what headers and exceptions refuse",
		Evidence: "a relay of a version that knows less of a filter",
		Patches:  []Patch{{"store/sqlitestore/turn_read.go", "	p.about.filter.Judge(&record)\n", ""}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_filter_takes_by_topic"),
	},
	{
		Name: "filter-of-another-where", What: "MySQL, MariaDB and SQLite: a declaration compares types alone, and two deployments with other routes work one subscription",
		Evidence: "made on purpose",
		Patches:  []Patch{{"store/sqlkit/declare.go", "(has != types || hasTakes != takes)", "(has != types || hasTakes != takes && takes == \"\")"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_filter_by_topic,_header_and_exceptions_is_compared"),
	},
}
