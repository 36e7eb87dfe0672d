-- Rows of {table} get slots by number, in every session.
CREATE TRIGGER {box}__number BEFORE INSERT ON postbag.{table} FOR EACH ROW EXECUTE FUNCTION postbag._by_number('{box}');
ALTER TABLE postbag.{table} ENABLE ALWAYS TRIGGER {box}__number;
