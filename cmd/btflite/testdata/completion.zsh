#compdef btflite
# zsh completion for btflite, written by "btflite completion zsh"
case $words[2] in
modules)
	_arguments \
		'--btf_base=[leave out what BASE has; several are a chain]:BASE:_files' \
		'--btf_encode_detached_dir=[write below DIR, not into the modules]:DIR:_files' \
		'--extra_vars=-[other variables, to MODULE.vars.btf or SUFFIX]:SUFFIX:_files' \
		'--jobs=-[use N workers; without N one for each CPU]:N:_files' \
		'-j-[use N workers; without N one for each CPU]:N:_files' \
		'--memory_limit=[take no more memory than SIZE, as 64M]:SIZE:_files' \
		'--debug_dir=[look for separate debug files in DIR as well]:DIR:_files' \
		'--dedup=[deduplication\: stream (default) or exact]:MODE:_files' \
		'--btf_sort=-[sort types\: canonical (default) or name]:ORDER:_files' \
		'--btf_compat=[repeat typedefs of BASE, as that version does]:libbpf-1.7:_files' \
		'--full_sizes[encode without BASE too and compare the sizes]' \
		'--stats=-[print counts, sizes, times and peak memory]:json:_files' \
		'--help[print this list]' \
		'-\?[print this list]' \
		'--btf_features=[just these; '\''default'\'', '\''all'\'', '\''+LIST'\'' adds]:LIST:_files' \
		'--btf_features_strict=[the same, unknown names are errors]:LIST:_files' \
		'--supported_btf_features[print the names that LIST may have]' \
		'--kabi_prefix=[names that begin with STRING become STRING]:STRING:_files' \
		'--fixup_silly_bitfields[bit-fields as wide as their type become members]' \
		'--lang=[only units in these languages]:LIST:_files' \
		'--lang_exclude=[no units in these (or $PAHOLE_LANG_EXCLUDE)]:LIST:_files' \
		'--cu_exclude=[no units whose name begins with PREFIX]:PREFIX:_files' \
		'-X-[no units whose name begins with PREFIX]:PREFIX:_files' \
		'--btf_gen_all[as --btf_features=all]' \
		'--btf_encode_force[leave out variables that cannot be encoded]' \
		'--btf_gen_floats[encode floating-point types as FLOAT]' \
		'--btf_gen_optimized[no effect]' \
		'--btf_attributes[encode attributes of arena pointers]' \
		'--reproducible_build[no effect\: output always is]' \
		'--skip_encoding_btf_vars[no variables]' \
		'--skip_encoding_btf_decl_tag[no declaration tags]' \
		'--skip_encoding_btf_type_tag[no type tags]' \
		'--skip_encoding_btf_enum64[cut 64-bit enum values to 32 bits]' \
		'--skip_encoding_btf_inconsistent_proto[leave out functions with several prototypes or unexpected registers]' \
		'--format_path=[formats to read; must have '\''dwarf'\'' in it]:LIST:_files' \
		'-F-[formats to read; must have '\''dwarf'\'' in it]:LIST:_files' \
		'--hashbits=[no effect; an error from 32 on]:N:_files' \
		'--ptr_table_stats[no effect\: there are no such tables]' \
		'--quiet[no effect\: btflite is]' \
		'-q[no effect\: btflite is]' \
		'--devel_version[print the pahole version stood in for, and that this is btflite]' \
		'--usage[as --help]' \
		'*:file:_files'
	;;
dedup)
	_arguments \
		'--output=[write the deduplicated BTF to the file OUT]:OUT:_files' \
		'-o-[write the deduplicated BTF to the file OUT]:OUT:_files' \
		'--btf_base=[the inputs are split over BASE, or a chain]:BASE:_files' \
		'--dedup=[deduplication\: stream (default) or exact]:MODE:_files' \
		'--help[print this list]' \
		'-\?[print this list]' \
		'*:file:_files'
	;;
sort)
	_arguments \
		'--btf_sort=-[sort types\: canonical (default) or name]:ORDER:_files' \
		'--btf_base=[IN is split over BASE, or a chain]:BASE:_files' \
		'--help[print this list]' \
		'-\?[print this list]' \
		'*:file:_files'
	;;
verify)
	_arguments \
		'--btf_base=[the files are split over BASE, or a chain]:BASE:_files' \
		'--kernel=[rules of that Linux release; without, of 7.2]:RELEASE:_files' \
		'--boot[only what holds for vmlinux and modules as well]' \
		'--no-dups[refuse and list names with more definitions]' \
		'--verbose[a line for files that are fine, too]' \
		'-V[a line for files that are fine, too]' \
		'--help[print this list]' \
		'-\?[print this list]' \
		'*:file:_files'
	;;
diff)
	_arguments \
		'--btf_base=[A and B are split over BASE, or a chain]:BASE:_files' \
		'--btf_base_b=[B is split over this BASE, or chain, instead]:BASE:_files' \
		'--functions[compare functions only]' \
		'--summary[print how many there are of each kind]' \
		'--json[print JSON]' \
		'--help[print this list]' \
		'-\?[print this list]' \
		'*:file:_files'
	;;
*)
	_arguments \
		'--btf_encode[encode; alone it adds .BTF to FILE itself]' \
		'-J[encode; alone it adds .BTF to FILE itself]' \
		'--btf_encode_detached=[write the BTF to the file OUT (implies -J)]:OUT:_files' \
		'--extra_vars=[other variables, as split BTF, to FILE (or .o)]:FILE:_files' \
		'--jobs=-[use N workers; without N one for each CPU]:N:_files' \
		'-j-[use N workers; without N one for each CPU]:N:_files' \
		'--memory_limit=[take no more memory than SIZE, as 64M]:SIZE:_files' \
		'--dedup=[deduplication\: stream (default) or exact]:MODE:_files' \
		'--btf_sort=-[sort types\: canonical (default) or name]:ORDER:_files' \
		'--debug_dir=[look for separate debug files in DIR as well]:DIR:_files' \
		'--btf_base=[leave out what BASE has; several are a chain]:BASE:_files' \
		'--btf_compat=[repeat typedefs of BASE, as that version does]:libbpf-1.7:_files' \
		'--btf_features=[just these; '\''default'\'', '\''all'\'', '\''+LIST'\'' adds]:LIST:_files' \
		'--btf_features_strict=[the same, unknown names are errors]:LIST:_files' \
		'--supported_btf_features[print the names that LIST may have]' \
		'--kabi_prefix=[names that begin with STRING become STRING]:STRING:_files' \
		'--fixup_silly_bitfields[bit-fields as wide as their type become members]' \
		'--lang=[only units in these languages]:LIST:_files' \
		'--lang_exclude=[no units in these (or $PAHOLE_LANG_EXCLUDE)]:LIST:_files' \
		'--cu_exclude=[no units whose name begins with PREFIX]:PREFIX:_files' \
		'-X-[no units whose name begins with PREFIX]:PREFIX:_files' \
		'--verbose[print what is encoded and what is left out]' \
		'-V[print what is encoded and what is left out]' \
		'--stats=-[print counts, sizes, times and peak memory]:json:_files' \
		'--report=[counts and functions left out, as JSON]:FILE:_files' \
		'--version[print the pahole version stood in for]' \
		'--numeric_version[the same as a number]' \
		'--help[print this list]' \
		'-\?[print this list]' \
		'--btf_gen_all[as --btf_features=all]' \
		'--btf_encode_force[leave out variables that cannot be encoded]' \
		'--btf_gen_floats[encode floating-point types as FLOAT]' \
		'--btf_gen_optimized[no effect]' \
		'--btf_attributes[encode attributes of arena pointers]' \
		'--reproducible_build[no effect\: output always is]' \
		'--skip_encoding_btf_vars[no variables]' \
		'--skip_encoding_btf_decl_tag[no declaration tags]' \
		'--skip_encoding_btf_type_tag[no type tags]' \
		'--skip_encoding_btf_enum64[cut 64-bit enum values to 32 bits]' \
		'--skip_encoding_btf_inconsistent_proto[leave out functions with several prototypes or unexpected registers]' \
		'--format_path=[formats to read; must have '\''dwarf'\'' in it]:LIST:_files' \
		'-F-[formats to read; must have '\''dwarf'\'' in it]:LIST:_files' \
		'--hashbits=[no effect; an error from 32 on]:N:_files' \
		'--ptr_table_stats[no effect\: there are no such tables]' \
		'--quiet[no effect\: btflite is]' \
		'-q[no effect\: btflite is]' \
		'--devel_version[print the pahole version stood in for, and that this is btflite]' \
		'--usage[as --help]' \
		'*:file:_files'
	;;
esac
