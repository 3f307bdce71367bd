#include <check.h>
#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "proc/elf.h"

static const char names[] = "\0Agent_OnLoad\0Agent_OnAttach\0Agent_OnLoad_jdwp\0JNI_OnLoad";
enum { ON_LOAD = 1, ON_ATTACH = 14, ON_LOAD_JDWP = 29, JNI = 47 };

#define INFO(bind) ELF64_ST_INFO(bind, STT_FUNC) /* equal to ELF32_ST_INFO */

/* Builds a file: ELF header, names, symbols, section headers. */
static void build_64(struct buf *out)
{
	const Elf64_Sym symbols[] = {
		{ 0 },
		{ .st_name = ON_LOAD, .st_info = INFO(STB_GLOBAL), .st_shndx = 1 },
		{ .st_name = ON_ATTACH, .st_info = INFO(STB_GLOBAL) },
		{ .st_name = ON_ATTACH, .st_info = INFO(STB_LOCAL), .st_shndx = 1 },
		{ .st_name = ON_LOAD_JDWP, .st_info = INFO(STB_WEAK), .st_shndx = 1 },
		{ .st_name = JNI, .st_info = INFO(STB_GLOBAL), .st_shndx = 1 },
		{ .st_name = 0x7fffffff, .st_info = INFO(STB_GLOBAL), .st_shndx = 1 },
	};
	const Elf64_Shdr sections[] = {
		{ 0 },
		{ .sh_type = SHT_STRTAB, .sh_size = sizeof(names),
		  .sh_offset = sizeof(Elf64_Ehdr) },
		{ .sh_type = SHT_DYNSYM, .sh_link = 1, .sh_size = sizeof(symbols),
		  .sh_offset = sizeof(Elf64_Ehdr) + sizeof(names) },
	};
	Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_shoff = sizeof(head) + sizeof(names) + sizeof(symbols),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = ARRAY_SIZE(sections),
	};

	buf_add(out, &head, sizeof(head));
	buf_add(out, names, sizeof(names));
	buf_add(out, symbols, sizeof(symbols));
	buf_add(out, sections, sizeof(sections));
}

static void build_32(struct buf *out)
{
	const Elf32_Sym symbols[] = {
		{ 0 },
		{ .st_name = ON_ATTACH, .st_info = INFO(STB_GLOBAL), .st_shndx = 1 },
	};
	const Elf32_Shdr sections[] = {
		{ .sh_type = SHT_DYNSYM, .sh_link = 1, .sh_size = sizeof(symbols),
		  .sh_offset = sizeof(Elf32_Ehdr) + sizeof(names) },
		{ .sh_type = SHT_STRTAB, .sh_size = sizeof(names),
		  .sh_offset = sizeof(Elf32_Ehdr) },
	};
	Elf32_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_shoff = sizeof(head) + sizeof(names) + sizeof(symbols),
		.e_shentsize = sizeof(Elf32_Shdr),
		.e_shnum = ARRAY_SIZE(sections),
	};

	buf_add(out, &head, sizeof(head));
	buf_add(out, names, sizeof(names));
	buf_add(out, symbols, sizeof(symbols));
	buf_add(out, sections, sizeof(sections));
}

static int make_file(const void *data, size_t len)
{
	int fd = memfd_create("check_elf", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
	return fd;
}

static bool note_name(const char *name, void *arg)
{
	buf_addf(arg, "%s ", name);
	return true;
}

/* Returns the exported names with this prefix, a space after each; sets *rc to the result. */
static const char *exports(const struct buf *file, const char *prefix, int *rc)
{
	static char text[256];
	_cleanup_buf_ struct buf found = BUF_INIT;
	_cleanup_close_ int fd = make_file(file->data, file->len);

	*rc = elf_exports(fd, prefix, note_name, &found);
	(void)strlcpy(text, buf_str(&found), sizeof(text));
	return text;
}

START_TEST(only_defined_global_symbols_are_exported)
{
	_cleanup_buf_ struct buf file = BUF_INIT;
	int rc;

	build_64(&file);
	ck_assert_str_eq(exports(&file, "Agent_On", &rc), "Agent_OnLoad Agent_OnLoad_jdwp ");
	ck_assert_int_eq(rc, 0);
	ck_assert_str_eq(exports(&file, "JNI_", &rc), "JNI_OnLoad ");
	ck_assert_str_eq(exports(&file, "Agent_OnUnload", &rc), "");
	ck_assert_int_eq(rc, 0);
	buf_reset(&file);
	build_32(&file);
	ck_assert_str_eq(exports(&file, "Agent_On", &rc), "Agent_OnAttach ");
	ck_assert_int_eq(rc, 0);
}
END_TEST

static bool stop_at_once(const char *name, void *arg)
{
	(void)name;
	++*(int *)arg;
	return false;
}

START_TEST(visitor_can_stop_the_search)
{
	_cleanup_buf_ struct buf file = BUF_INIT;
	_cleanup_close_ int fd = -1;
	int n = 0;

	build_64(&file);
	fd = make_file(file.data, file.len);
	ck_assert_int_eq(elf_exports(fd, "Agent_On", stop_at_once, &n), 0);
	ck_assert_int_eq(n, 1);
}
END_TEST

START_TEST(truncated_files_are_refused)
{
	_cleanup_buf_ struct buf wide = BUF_INIT, narrow = BUF_INIT;
	const struct buf *files[] = { &wide, &narrow };
	int rc;

	build_64(&wide);
	build_32(&narrow);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		for (size_t len = 0; len < files[i]->len; len++) {
			struct buf cut = { files[i]->data, len, len };

			ck_assert_str_eq(exports(&cut, "Agent_On", &rc), "");
			ck_assert_int_eq(rc, len < EI_NIDENT ? -ENOEXEC : -EBADMSG);
		}
	}
}
END_TEST

static void check_broken(size_t offset, const void *value, size_t len, int expected)
{
	_cleanup_buf_ struct buf file = BUF_INIT;
	int rc;

	build_64(&file);
	memcpy(file.data + offset, value, len);
	ck_assert_str_eq(exports(&file, "Agent_On", &rc), "");
	ck_assert_int_eq(rc, expected);
}

START_TEST(inconsistent_headers_are_refused)
{
	const uint64_t far = UINT64_MAX - 8;
	const uint16_t many = 0xffff, zero = 0;
	const uint8_t big_endian = ELFDATA2MSB, no_class = 3;
	const size_t sections = sizeof(Elf64_Ehdr) + sizeof(names) + 7 * sizeof(Elf64_Sym);
	const size_t symbols = sections + 2 * sizeof(Elf64_Shdr);
	const size_t strings = sections + sizeof(Elf64_Shdr);

	check_broken(0, "MZ", 2, -ENOEXEC);
	check_broken(EI_DATA, &big_endian, 1, -ENOEXEC);
	check_broken(EI_CLASS, &no_class, 1, -ENOEXEC);
	check_broken(offsetof(Elf64_Ehdr, e_shoff), &far, sizeof(far), -EBADMSG);
	check_broken(offsetof(Elf64_Ehdr, e_shentsize), &zero, sizeof(zero), -EBADMSG);
	check_broken(offsetof(Elf64_Ehdr, e_shnum), &many, sizeof(many), -EFBIG);
	check_broken(offsetof(Elf64_Ehdr, e_shnum), &zero, sizeof(zero), 0);
	check_broken(symbols + offsetof(Elf64_Shdr, sh_link), &many, sizeof(many), -EBADMSG);
	check_broken(symbols + offsetof(Elf64_Shdr, sh_link), &zero, sizeof(zero), -EBADMSG);
	check_broken(symbols + offsetof(Elf64_Shdr, sh_offset), &far, sizeof(far), -EBADMSG);
	check_broken(strings + offsetof(Elf64_Shdr, sh_offset), &far, sizeof(far), -EBADMSG);
	check_broken(strings + offsetof(Elf64_Shdr, sh_size), &far, sizeof(far), -EBADMSG);
}
END_TEST

/* A hostile file can be sparse: its size costs no disk space. */
START_TEST(huge_symbol_table_is_refused)
{
	_cleanup_buf_ struct buf file = BUF_INIT, found = BUF_INIT;
	const uint64_t size = UINT64_C(1) << 40;
	size_t symbols = sizeof(Elf64_Ehdr) + sizeof(names) + 7 * sizeof(Elf64_Sym) +
			 2 * sizeof(Elf64_Shdr);
	_cleanup_close_ int fd = -1;

	build_64(&file);
	memcpy(file.data + symbols + offsetof(Elf64_Shdr, sh_size), &size, sizeof(size));
	fd = make_file(file.data, file.len);
	ck_assert_int_eq(ftruncate(fd, 2 * (off_t)size), 0);
	ck_assert_int_eq(elf_exports(fd, "Agent_On", note_name, &found), -EFBIG);
	ck_assert_uint_eq(found.len, 0);
}
END_TEST

START_TEST(name_ends_with_its_string_table)
{
	_cleanup_buf_ struct buf file = BUF_INIT;
	const uint64_t size = ON_LOAD + sizeof("Agent_OnLo");
	size_t strings = sizeof(Elf64_Ehdr) + sizeof(names) + 7 * sizeof(Elf64_Sym) +
		       sizeof(Elf64_Shdr);
	int rc;

	build_64(&file);
	memcpy(file.data + strings + offsetof(Elf64_Shdr, sh_size), &size, sizeof(size));
	ck_assert_str_eq(exports(&file, "Agent_On", &rc), "Agent_OnLo ");
	ck_assert_int_eq(rc, 0);
}
END_TEST

/* The notes of a library: another note of GNU, then the build id. */
static const char notes[] = "\x04\0\0\0\x06\0\0\0\x01\0\0\0GNU\0abcdef\0\0"
			    "\x04\0\0\0\x03\0\0\0\x03\0\0\0GNU\0\x01\x02\xff\0";
enum { NOTES = sizeof(notes) - 1, BUILD_ID_NOTE = 24 };

/* Builds a file: ELF header, program headers, notes. */
static void build_notes_64(struct buf *out)
{
	const Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD, .p_filesz = 16 },
		{ .p_type = PT_NOTE, .p_filesz = NOTES,
		  .p_offset = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr) },
	};
	const Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_phoff = sizeof(head), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = ARRAY_SIZE(segments),
	};

	buf_add(out, &head, sizeof(head));
	buf_add(out, segments, sizeof(segments));
	buf_add(out, notes, NOTES);
}

static void build_notes_32(struct buf *out)
{
	const Elf32_Phdr segments[] = {
		{ .p_type = PT_NOTE, .p_filesz = NOTES,
		  .p_offset = sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr) },
	};
	const Elf32_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
		.e_phoff = sizeof(head), .e_phentsize = sizeof(Elf32_Phdr),
		.e_phnum = ARRAY_SIZE(segments),
	};

	buf_add(out, &head, sizeof(head));
	buf_add(out, segments, sizeof(segments));
	buf_add(out, notes, NOTES);
}

static int build_id(const struct buf *file, size_t len, uint8_t id[static ELF_BUILD_ID_MAX])
{
	_cleanup_close_ int fd = make_file(file->data, len);

	return elf_build_id(fd, id);
}

START_TEST(build_id_is_in_the_notes)
{
	static void (*const build[])(struct buf *out) = { build_notes_64, build_notes_32 };
	uint8_t id[ELF_BUILD_ID_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(build); i++) {
		_cleanup_buf_ struct buf file = BUF_INIT;

		build[i](&file);
		ck_assert_int_eq(build_id(&file, file.len, id), 3);
		ck_assert_mem_eq(id, "\x01\x02\xff", 3);
		for (size_t len = 0; len < file.len; len++)
			ck_assert_int_eq(build_id(&file, len, id),
					 len < EI_NIDENT ? -ENOEXEC : -EBADMSG);
	}
}
END_TEST

static void check_broken_notes(size_t offset, const void *value, size_t len, int expected)
{
	_cleanup_buf_ struct buf file = BUF_INIT;
	uint8_t id[ELF_BUILD_ID_MAX];

	build_notes_64(&file);
	memcpy(file.data + offset, value, len);
	ck_assert_int_eq(build_id(&file, file.len, id), expected);
}

START_TEST(files_without_a_valid_build_id_have_none)
{
	const uint64_t far = UINT64_MAX - 8;
	const uint32_t most = UINT32_MAX;
	const uint16_t many = 0xffff, zero = 0;
	const size_t segment = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
	const size_t note = segment + sizeof(Elf64_Phdr) + BUILD_ID_NOTE;
	_cleanup_buf_ struct buf file = BUF_INIT;
	uint8_t id[ELF_BUILD_ID_MAX];

	check_broken_notes(offsetof(Elf64_Ehdr, e_phnum), &zero, sizeof(zero), 0);
	check_broken_notes(offsetof(Elf64_Ehdr, e_phnum), &many, sizeof(many), -EFBIG);
	check_broken_notes(offsetof(Elf64_Ehdr, e_phentsize), &zero, sizeof(zero), -EBADMSG);
	check_broken_notes(offsetof(Elf64_Ehdr, e_phoff), &far, sizeof(far), -EBADMSG);
	check_broken_notes(segment, "\x05", 1, 0); /* another type */
	check_broken_notes(segment + offsetof(Elf64_Phdr, p_offset), &far, sizeof(far), -EBADMSG);
	check_broken_notes(segment + offsetof(Elf64_Phdr, p_filesz), &far, sizeof(far), 0);
	check_broken_notes(note, &most, sizeof(most), 0);     /* length of the name */
	check_broken_notes(note + 4, &most, sizeof(most), 0); /* length of the build id */
	check_broken_notes(note + 8, "\x05", 1, 0);           /* another type */
	check_broken_notes(note + 12, "GNX", 3, 0);
	build_64(&file);
	ck_assert_int_eq(build_id(&file, file.len, id), 0);
}
END_TEST

START_TEST(long_build_ids_are_ignored)
{
	_cleanup_buf_ struct buf file = BUF_INIT;
	const uint32_t size = ELF_BUILD_ID_MAX + 1;
	const uint64_t all = NOTES + size;
	const size_t segment = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
	uint8_t id[ELF_BUILD_ID_MAX];

	build_notes_64(&file);
	memcpy(file.data + segment + offsetof(Elf64_Phdr, p_filesz), &all, sizeof(all));
	memcpy(file.data + segment + sizeof(Elf64_Phdr) + BUILD_ID_NOTE + 4, &size, sizeof(size));
	for (uint32_t i = 0; i < size; i++)
		buf_addc(&file, 'x');
	ck_assert_int_eq(build_id(&file, file.len, id), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("proc/elf");
	TCase *tc = tcase_create("proc/elf");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, only_defined_global_symbols_are_exported);
	tcase_add_test(tc, visitor_can_stop_the_search);
	tcase_add_test(tc, truncated_files_are_refused);
	tcase_add_test(tc, inconsistent_headers_are_refused);
	tcase_add_test(tc, huge_symbol_table_is_refused);
	tcase_add_test(tc, name_ends_with_its_string_table);
	tcase_add_test(tc, build_id_is_in_the_notes);
	tcase_add_test(tc, files_without_a_valid_build_id_have_none);
	tcase_add_test(tc, long_build_ids_are_ignored);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
