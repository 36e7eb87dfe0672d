-- Boxes whose slots are made by number: an option of a box, that never changes. 0: by hash, 1: by number.
SET @postbag_add = (SELECT IF(COUNT(*) > 0, 'DO 0', 'ALTER TABLE postbag__box ADD COLUMN slots TINYINT NOT NULL DEFAULT 0')
FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'postbag__box' AND column_name = 'slots');
PREPARE postbag_add FROM @postbag_add;
EXECUTE postbag_add;
DEALLOCATE PREPARE postbag_add;
